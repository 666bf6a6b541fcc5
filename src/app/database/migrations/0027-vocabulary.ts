import { Migration } from '@mikro-orm/migrations'

/** Tables get their names from the vocabulary of docs/glossary.md: old name, new name. */
const tables = [
  ['outbound_facts', 'outbound_events'],
  ['provider_accounts', 'stripe_accounts'],
  ['provider_events', 'stripe_events'],
  ['provider_objects', 'stripe_objects'],
] as const

/** Columns: table (by its new name), old name, new name. */
const columns = [
  ['sessions', 'stop_presses', 'stop_requests'],
  ['users', 'rights_version', 'permissions_version'],
  ['users', 'rights_changed_at', 'permissions_changed_at'],
  ['stripe_accounts', 'provider_id', 'stripe_id'],
  ['invoice_collections', 'provider_id', 'stripe_id'],
] as const

/** Names of indexes, constraints and sequences that contain an old name: table, pattern, replacement. */
const derivedNames = [
  ...tables.map(([from, to]) => [to, from, to] as const),
  ['stripe_accounts', 'provider_id', 'stripe_id'],
  ['stripe_accounts', 'provider', 'stripe'],
  ['invoice_collections', 'provider_id', 'stripe_id'],
  ['invoice_collections', 'provider', 'stripe'],
  ['users', 'rights', 'permissions'],
  ['sessions', 'stop_presses', 'stop_requests'],
] as const

/** Renames what PostgreSQL named after a table or column. A unique or primary key is renamed with its index. */
const renameDerived = (table: string, from: string, to: string) => `
do $$
declare derived record;
begin
  for derived in
    select conname as name from pg_constraint
    where conrelid = '${table}'::regclass and position('${from}' in conname) > 0
  loop
    execute format('alter table ${table} rename constraint %I to %I', derived.name, replace(derived.name, '${from}', '${to}'));
  end loop;
  for derived in
    select relname as name, relkind from pg_class
    where position('${from}' in relname) > 0 and oid in (
      select indexrelid from pg_index where indrelid = '${table}'::regclass
      union select objid from pg_depend where refobjid = '${table}'::regclass and deptype in ('a', 'i')
    )
  loop
    if derived.relkind = 'S' then
      execute format('alter sequence %I rename to %I', derived.name, replace(derived.name, '${from}', '${to}'));
    elsif derived.relkind = 'i' then
      execute format('alter index %I rename to %I', derived.name, replace(derived.name, '${from}', '${to}'));
    end if;
  end loop;
end $$`

/** The triggers keep a user's permissions_version; their functions name the columns in their text. */
const permissionTriggers = `
alter trigger users_rights on users rename to users_permissions;
alter trigger certifications_rights_gained on certifications rename to certifications_permissions_gained;
alter trigger certifications_rights_changed on certifications rename to certifications_permissions_changed;
alter trigger certifications_rights_lost on certifications rename to certifications_permissions_lost;
alter function users_note_rights() rename to users_note_permissions;
alter function certifications_note_rights() rename to certifications_note_permissions;
create or replace function users_note_permissions() returns trigger language plpgsql as $$
begin
  new.permissions_version := old.permissions_version + 1;
  new.permissions_changed_at := clock_timestamp();
  return new;
end $$;
create or replace function certifications_note_permissions() returns trigger language plpgsql as $$
begin
  update users set permissions_version = permissions_version + 1, permissions_changed_at = clock_timestamp()
  where id in (old.operator_id, new.operator_id);
  return null;
end $$;
`

/**
 * Renames tables and columns to the terms of the field. Processes of the version before do not find them afterwards:
 * stop all of them first (docs/operations.md, "Upgrading").
 */
export class Migration0027Vocabulary extends Migration {
  override name = '0027_vocabulary'

  override up(): void {
    for (const [from, to] of tables) this.addSql(`alter table "${from}" rename to "${to}"`)
    for (const [table, from, to] of columns)
      this.addSql(`alter table "${table}" rename column "${from}" to "${to}"`)
    for (const [table, from, to] of derivedNames) this.addSql(renameDerived(table, from, to))
    this.addSql(permissionTriggers)
  }
}
