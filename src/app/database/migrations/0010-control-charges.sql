-- Money follows control: each epoch has its part of the charge, and each operator earns with what they drove.

alter table control_intervals
  -- The ACTIVE time without outages, once the session is over.
  add column driven_ms bigint,
  add constraint control_intervals_charged check (num_nonnulls(driven_ms, client_charge_cents, operator_earnings_cents) in (0, 3)),
  add constraint control_intervals_charge check (driven_ms >= 0 and operator_earnings_cents between 0 and client_charge_cents);
-- The epochs that earn, of an operator.
create index control_intervals_priced on control_intervals (user_id, session_id) where plan_id is not null;

create trigger control_intervals_charge_fixed before update or delete on control_intervals
  for each row when (old.client_charge_cents is not null) execute function refuse_change();

alter table sessions
  -- Guests earn in a session whose operator earns nothing.
  drop constraint sessions_held,
  add constraint sessions_held check (earnings_held_until is null or client_charge_cents > 0),
  -- A session of a member costs what guests drove in it.
  drop constraint sessions_own_operator_free,
  add constraint sessions_own_operator_free check (not own_operator or (
    coalesce(operator_earnings_cents, 0) = 0 and coalesce(client_rate_cents_per_minute, 0) = 0));

-- One posting has a line for each operator.
drop index one_charge_per_session;
create unique index one_charge_per_session on ledger_entries (session_id, account, user_id) nulls not distinct where kind = 'session_charge';
