-- A reservation that was freed before it came to be: it reserves nothing, and nothing can be reserved for it any more.
alter table funds.reservation
  drop constraint reservation_amount_minor_check,
  add check (amount_minor > 0 or (state = 'FREED' and amount_minor = 0));
