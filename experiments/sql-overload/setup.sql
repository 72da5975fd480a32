-- What `GET /scan` reads. Run once by a superuser in the database kumite, when the role kumite is there; with psql and
-- not in one transaction, for vacuum.

-- So many rows that a scan of them takes about 30 ms of CPU: 30.1 ms, the median of 15, on one core of an AMD EPYC.
create table items (id int primary key, name text not null);
insert into items select id, 'item ' || id from generate_series(1, 500000) as id;
grant select on items to kumite;

-- Now, and not by autovacuum in the middle of a trial; nor by the first scans, which would have to mark every row.
vacuum (freeze, analyze) items;

-- A query is one connection's work on one core.
alter role kumite set max_parallel_workers_per_gather = 0;
