alter table api_keys.api_key add column rotated_at timestamptz(3);
comment on column api_keys.api_key.rotated_at is
  'When a successor was issued, which ends the key after the overlap. Null also for keys rotated before there was this column.';
comment on column api_keys.api_key.expiry_notice_days is
  'The last notice that the key expires, in days before it: 7 or 1. 0: the key was replaced; a notice is due only if it is still used.';
