-- Why an amount was deducted, as the merchant sees it.
alter table funds.deduction add column reason text;
