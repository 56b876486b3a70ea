-- Not valid: every row from before has one of these topics, and checking them would lock the table.
alter table accounts.unwanted_mail drop constraint unwanted_mail_topic_check;
alter table accounts.unwanted_mail add constraint unwanted_mail_topic_check check (topic in (
  'REFUND_DEADLINES', 'DISPUTE_DEADLINES', 'WEBHOOK_PROBLEMS', 'DEBTS', 'ADVANCES', 'API_KEYS')) not valid;

alter table api_keys.api_key add column expiry_notice_days smallint;
comment on column api_keys.api_key.expiry_notice_days is
  'The last notice that the key expires, in days before it: 7 or 1. 0: none is due any more, because the key was replaced.';
