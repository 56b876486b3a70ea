-- Tables whose rows come and go within a second: swept and analyzed by how much has gone through them, not by their size.
alter table webhooks.open_delivery set (
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000, autovacuum_analyze_scale_factor = 0,
  autovacuum_analyze_threshold = 5000, autovacuum_vacuum_cost_delay = 0);
alter table platform.outbox_event set (
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000, autovacuum_analyze_scale_factor = 0,
  autovacuum_analyze_threshold = 5000, autovacuum_vacuum_cost_delay = 0);
alter table platform.outbox_command set (
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_cost_delay = 0);
alter table webhooks.batch set (
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0);
