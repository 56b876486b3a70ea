-- no transaction
-- Open debts, oldest first, across merchants. Partial: few at a time.
create index concurrently if not exists deduction_debt_queue on funds.deduction (occurred_at, source_id)
  where open_debt_minor > 0;
