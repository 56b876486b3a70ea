-- Distributes a migrated database over the nodes of a Citus cluster, by merchant: reads and money. Run it once, on
-- the coordinator, after services/migrate.ts and before anything else. docs/scaling.md says what was tried and what
-- is not possible. All other tables stay on the coordinator, above all the delivery queue. Either all of it is done, or nothing.
begin;

-- A write changes money on one node, and its idempotency record, audit entry, workflow command and events here. Citus
-- ignores tables that it does not manage: without this one, it would commit on the node first, and a crash between
-- the two commits would leave money without its event. A statement on a table that Citus manages makes it commit both
-- in two phases.
create table platform.distributed_commit (id integer primary key);
comment on table platform.distributed_commit is 'Always empty.';
select citus_add_local_table_to_metadata('platform.distributed_commit');

-- With the rights of its owner: processes that only send webhooks have none on the empty table.
create function platform.commit_in_two_phases() returns trigger language plpgsql security definer set search_path = '' as $$
begin
  delete from platform.distributed_commit where id = 0;
  return null;
end $$;

create trigger commit_in_two_phases after insert or update or delete on platform.idempotency_record
  for each statement execute function platform.commit_in_two_phases();
create trigger commit_in_two_phases after insert or update or delete on platform.audit_entry
  for each statement execute function platform.commit_in_two_phases();
create trigger commit_in_two_phases after insert or update or delete on platform.outbox_command
  for each statement execute function platform.commit_in_two_phases();
create trigger commit_in_two_phases after insert or update or delete on webhooks.object_sequence
  for each statement execute function platform.commit_in_two_phases();

-- Without it, nodes ignore what `set local` limits: a write would wait without limit for a row that another process has locked.
do $$ begin
  execute format('alter database %I set citus.propagate_set_commands = %L', current_database(), 'local');
end $$;

-- Last: after it, Citus creates no function in the same transaction.
select create_distributed_table(name, 'merchant_id', colocate_with => 'default')
  from unnest(array[
    -- Referenced tables come before those that reference them.
    'catalog.product', 'catalog.price', 'catalog.offer',
    'refunds.payment', 'refunds.refund_case', 'refunds.dispute', 'refunds.evidence', 'refunds.evidence_content',
    'funds.account', 'funds.sale', 'funds.installment', 'funds.block', 'funds.release', 'funds.deduction',
    'funds.debt_payment', 'funds.refund_debit', 'funds.pending_debit', 'funds.ended_execution', 'funds.reservation', 'funds.posting',
    'funds.movement', 'funds.balance_day', 'funds.failing_account',
    'advances.rate', 'advances.quote', 'advances.quote_installment', 'advances.request'
  ]) with ordinality as tables (name, place)
 order by place;

commit;
