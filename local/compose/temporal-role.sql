-- Temporal's role: it creates its databases, and may read no others.
select 'create role temporal login createdb'
 where not exists (select from pg_roles where rolname = 'temporal') \gexec
