//! Three statements, parsed and printed fifteen times.

use sqlparser::{dialect::GenericDialect, parser::Parser};

fn main() {
    let q = "WITH x AS (SELECT a, b + 1 AS c FROM t WHERE d IN (1, 2, 3) AND e LIKE 'f%') SELECT x.a, count(*), CASE WHEN c > 1 THEN 'y' ELSE NULL END FROM x LEFT JOIN u ON x.a = u.a GROUP BY x.a HAVING count(*) > 2 ORDER BY 1 DESC LIMIT 5; INSERT INTO t (a, b) VALUES (1, 'x'), (2, 'y'); CREATE TABLE t (id INT PRIMARY KEY, name VARCHAR(20) NOT NULL)";
    let mut n = 0;
    for _ in 0..15 {
        for s in Parser::parse_sql(&GenericDialect {}, q).unwrap() {
            n += s.to_string().len();
        }
    }
    println!("{n}");
}
