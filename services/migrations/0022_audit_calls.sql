-- Which call an entry is of, by its caller, RPC, idempotency key and request: a call that changes something before its
-- last transaction leaves its entry with the first, and one that is repeated leaves no other. Null without a key.
alter table platform.audit_entry add column call_sha256 bytea;
create index audit_entry_call on platform.audit_entry (merchant_id, environment, call_sha256)
  where call_sha256 is not null;
