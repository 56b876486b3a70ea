-- no transaction
-- The list of products by status: of many products, few may be drafts or active.
create index concurrently if not exists product_status on catalog.product
  (merchant_id, environment, status, created_at desc, id desc);
