-- no transaction
-- Which advances an installment was advanced by.
create index concurrently if not exists posting_advance on funds.posting
  (merchant_id, environment, installment_id) where kind = 'ADVANCE';
