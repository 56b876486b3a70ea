-- no transaction
-- The oldest open block of KYC or compliance, across merchants.
create index concurrently if not exists block_oldest_hold on funds.block (environment, reason, opened_at)
  where closed_at is null and reason in ('KYC_PENDING', 'COMPLIANCE_HOLD');
