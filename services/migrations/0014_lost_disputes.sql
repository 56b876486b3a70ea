-- A lost dispute keeps its payment from being refunded, as an open one does.
create index dispute_blocking on refunds.dispute (merchant_id, environment, payment_intent_id)
  where closed_at is null or outcome = 'LOST';
drop index refunds.dispute_open;
