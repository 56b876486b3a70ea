-- no transaction
-- The list of disputes by outcome: few are lost.
create index concurrently if not exists dispute_outcome on refunds.dispute
  (merchant_id, environment, outcome, opened_at desc, id desc) where outcome is not null;
