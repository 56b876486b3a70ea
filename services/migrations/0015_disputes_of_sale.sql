-- no transaction
-- The disputes of a sale, newest first.
create index concurrently if not exists dispute_sale on refunds.dispute
  (merchant_id, environment, sale_id, opened_at desc, id desc) where sale_id is not null;
