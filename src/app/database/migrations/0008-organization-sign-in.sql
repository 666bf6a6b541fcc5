-- Sign-in with the identity provider of an organization.

create table organization_sign_ins (
  organization_id uuid primary key,
  issuer text not null,
  client_id text not null,
  -- Encrypted with the key of the platform.
  client_secret text not null,
  scopes text[] not null,
  groups_claim text not null,
  -- Whether a sign-in makes somebody a member.
  creates_members boolean not null,
  enforced boolean not null default false,
  -- When an owner has signed in with these settings; null before.
  owner_signed_in_at timestamptz(3),
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  constraint one_organization_per_issuer unique (issuer),
  -- Nobody locks the members out with settings that nobody has used.
  constraint organization_sign_ins_enforced_once_used check (not enforced or owner_signed_in_at is not null),
  constraint organization_sign_ins_organization_id_foreign foreign key (organization_id) references organizations (id) on update cascade on delete cascade
);

-- Who a subject of the provider is. It ends with the membership, with the domain of the address, and with the settings.
create table organization_identities (
  id uuid primary key,
  organization_id uuid not null,
  subject text not null,
  user_id uuid not null,
  domain_id uuid not null,
  created_at timestamptz(3) not null default now(),
  constraint one_identity_per_subject unique (organization_id, subject),
  -- An address that the provider gives to another person does not give that person the account.
  constraint one_identity_per_user unique (organization_id, user_id),
  constraint organization_identities_organization_id_foreign foreign key (organization_id) references organization_sign_ins (organization_id) on delete cascade,
  constraint organization_identities_member_foreign foreign key (organization_id, user_id) references organization_members (organization_id, user_id) on update cascade on delete cascade,
  constraint organization_identities_domain_id_foreign foreign key (domain_id) references organization_domains (id) on delete cascade
);
create index organization_identities_of_domain on organization_identities (domain_id);
create index organization_identities_of_user on organization_identities (user_id);

-- What a person is signed in with. The token is a signature of the id: a copy of the database does not disclose it.
create table sign_in_sessions (
  id uuid primary key,
  identity_id uuid not null,
  created_at timestamptz(3) not null,
  expires_at timestamptz(3) not null,
  constraint sign_in_sessions_identity_id_foreign foreign key (identity_id) references organization_identities (id) on delete cascade
);
create index sign_in_sessions_newest on sign_in_sessions (identity_id, created_at desc, id desc);

-- The groups of a person whose sign-ins say what the role is; null where SCIM says it.
alter table scim_users add column claimed_groups text[];

-- Whose sign-ins have ended has other permissions, which every process notices as after any change of them.

create function identities_note_permissions() returns trigger language plpgsql as $$
begin
  update users set permissions_version = permissions_version + 1, permissions_changed_at = clock_timestamp()
  where id in (select user_id from ended);
  return null;
end $$;
create trigger identities_ended after delete on organization_identities
  referencing old table as ended for each statement execute function identities_note_permissions();

-- Members who are signed in with the provider of the platform lose the organization when it enforces its own. Owners stay.
create function sign_ins_note_permissions() returns trigger language plpgsql as $$
begin
  update users set permissions_version = permissions_version + 1, permissions_changed_at = clock_timestamp()
  where id in (select user_id from organization_members where organization_id = new.organization_id and role <> 'owner');
  return null;
end $$;
create trigger sign_ins_enforced after update of enforced on organization_sign_ins
  for each row when (new.enforced and not old.enforced) execute function sign_ins_note_permissions();
