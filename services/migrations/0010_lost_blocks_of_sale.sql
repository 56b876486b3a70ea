-- no transaction
-- What lost disputes have taken of a sale. Partial: few blocks are lost.
create index concurrently if not exists block_lost on funds.block (merchant_id, environment, sale_id)
  where outcome = 'CONSUMED';
