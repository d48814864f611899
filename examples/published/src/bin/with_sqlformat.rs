//! Three queries, formatted twenty times.

use sqlformat::*;

fn main() {
    let q = [
        "SELECT a, b, count(*) FROM t JOIN u ON t.id = u.t_id WHERE a > 5 AND b IN (1,2,3) GROUP BY a, b HAVING count(*) > 1 ORDER BY a LIMIT 10",
        "WITH x AS (SELECT * FROM y WHERE z = :name), w AS (SELECT CASE WHEN q = 1 THEN 'a' ELSE 'b' END FROM x) INSERT INTO r SELECT * FROM w",
        "UPDATE t SET a = 1, b = (SELECT max(c) FROM u) WHERE id = ? -- comment\n; DELETE FROM t WHERE a BETWEEN 1 AND 2",
    ];
    let mut n = 0;
    for _ in 0..20 {
        for q in q {
            n += format(q, &QueryParams::None, &FormatOptions::default()).len();
        }
    }
    println!("{n}");
}
