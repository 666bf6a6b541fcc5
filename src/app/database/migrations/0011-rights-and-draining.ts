import { Migration } from '@mikro-orm/migrations'

/**
 * When somebody's rights changed, noted by the database itself, whoever changes them and by whatever means; and
 * gateways that are about to end.
 */
export class Migration0011RightsAndDraining extends Migration {
  override name = '0011_rights_and_draining'

  override up(): void {
    for (const statement of [columns, rolesChange, certificationsChange, draining]) this.addSql(statement)
  }
}

const columns = `
alter table "users" add column "rights_version" int not null default 0, add column "rights_changed_at" timestamptz(3) null;
create index "users_rights_changed" on "users" ("rights_changed_at") where "rights_changed_at" is not null;
`

/** The admin role follows from the verified address. By the clock of this moment: a transaction may have begun long ago. */
const rolesChange = `
create function users_note_rights() returns trigger language plpgsql as $$
begin
  new.rights_version := old.rights_version + 1;
  new.rights_changed_at := clock_timestamp();
  return new;
end $$;
create trigger users_rights before update of is_client, is_operator, email, email_verified on users
  for each row when (
    (old.is_client, old.is_operator, old.email, old.email_verified)
    is distinct from (new.is_client, new.is_operator, new.email, new.email_verified)
  )
  execute function users_note_rights();
`

const certificationsChange = `
create function certifications_note_rights() returns trigger language plpgsql as $$
begin
  update users set rights_version = rights_version + 1, rights_changed_at = clock_timestamp()
  where id in (old.operator_id, new.operator_id);
  return null;
end $$;
create trigger certifications_rights_gained after insert on certifications
  for each row when (new.status = 'APPROVED') execute function certifications_note_rights();
create trigger certifications_rights_changed after update of status, robot_type, operator_id on certifications
  for each row when (
    'APPROVED' in (old.status, new.status)
    and (old.status, old.robot_type, old.operator_id) is distinct from (new.status, new.robot_type, new.operator_id)
  )
  execute function certifications_note_rights();
create trigger certifications_rights_lost after delete on certifications
  for each row when (old.status = 'APPROVED') execute function certifications_note_rights();
`

const draining = `
alter table "gateway_nodes" add column "draining" boolean not null default false;
`
