select * from nodes
select name, width * 2 + 1 as double_width from nodes where width > 10 and not (hidden or depth = 3)
select n.name, p.name from nodes as n inner join nodes as p on n.parent = p.id where p.depth < 4
select distinct kind from events group by kind having count(*) > 100
select count(*), sum(span), min(span), max(span) from events where site = 'Scene::measure'
select * from (select site, count(*) as calls from events group by site) as by_site where calls > 10
insert into nodes (id, name, width) values (1, 'html', 80), (2, 'body', 78)
insert into archive select * from events where at < 1000
update nodes set width = 10, name = 'wide' where id = 7
delete from nodes where id in (1, 2, 3)
create table nodes (id int not null, name text not null, width double, primary key (id)) distributed by (id)
create user "crawler" with password 'seven' using md5
drop table nodes
grant select on table nodes to crawler
explain select * from nodes where width between 1 and 10
values (1, 'a'), (2, 'b')
select case when width > 10 then 'wide' else 'narrow' end from nodes
select * from nodes where name is not null and parent is null
select cast(width as text) || 'px' from nodes
select from where
create table (id int)
select * from nodes where (width > 1
select 'never closed
