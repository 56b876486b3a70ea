-- no transaction
-- The advance of a payout's id at the provider: merchants know it from their bank's statement.
create index concurrently if not exists request_provider_payout on advances.request
  (merchant_id, environment, payout_provider_id, requested_at desc, id desc) where payout_provider_id is not null;
