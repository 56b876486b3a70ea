-- Since when what its merchant can settle blocks an approved case. Null otherwise, and if it has been since before this column.
alter table refunds.refund_case add column blocked_since timestamptz(3);
