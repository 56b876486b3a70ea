-- When an open debt last grew, which does not change when it arose.
alter table funds.deduction add column raised_at timestamptz(3);
