-- no transaction
-- The sales of a customer, newest first.
create index concurrently if not exists sale_customer on funds.sale
  (merchant_id, environment, customer_reference, captured_at desc, id desc) where customer_reference is not null;
