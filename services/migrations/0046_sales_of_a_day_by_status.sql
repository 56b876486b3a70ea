-- no transaction
-- The sales of a day by status: most of a past day's are released, and most of a future day's scheduled, but few may be either.
-- Blocked installments have an index of their own.
create index concurrently if not exists installment_day_status on funds.installment
  (merchant_id, environment, date, status, sale_id) where status <> 'BLOCKED';
