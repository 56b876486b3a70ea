-- no transaction
-- The list of sales with both filters: of millions of a product, few or none may have the status.
create index concurrently if not exists sale_product_status on funds.sale
  (merchant_id, environment, product_id, status, captured_at desc, id desc) where product_id is not null;
