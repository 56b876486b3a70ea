-- no transaction
-- The movements of a sale, in the order of the statement.
create index concurrently if not exists movement_sale on funds.movement
  (merchant_id, environment, sale_id, occurred_at, id) where sale_id is not null;
