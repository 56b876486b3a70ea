-- What lists of events and deliveries need beside the storage: types in the order of ids, and events of both tables.

create index event_type on webhooks.event (merchant_id, environment, type, id);
create index ended_delivery_type on webhooks.ended_delivery (merchant_id, environment, event_type, id);

-- All events, for reads: past dispatch with their body, on their way to it with their data.
create view webhooks.published_event as
select merchant_id, environment, id, type, object_id, sequence, request_id, occurred_at, body, null::json as data
  from webhooks.event
union all
select merchant_id, environment, id, type, object_id, sequence, request_id, occurred_at, null, data
  from platform.outbox_event;
