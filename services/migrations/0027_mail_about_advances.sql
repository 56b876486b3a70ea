-- Not valid: every row from before has one of these topics, and checking them would lock the table.
alter table accounts.unwanted_mail drop constraint unwanted_mail_topic_check;
alter table accounts.unwanted_mail add constraint unwanted_mail_topic_check check (topic in (
  'REFUND_DEADLINES', 'DISPUTE_DEADLINES', 'WEBHOOK_PROBLEMS', 'DEBTS', 'ADVANCES')) not valid;
