-- Verified domains and provisioning (SCIM) of organizations.

create table organization_domains (
  id uuid primary key,
  organization_id uuid not null,
  -- In lower case.
  domain text not null,
  -- What a TXT record has to contain. It is public.
  txt_value text not null,
  verified_at timestamptz(3),
  created_at timestamptz(3) not null default now(),
  constraint organization_domains_once unique (organization_id, domain),
  constraint organization_domains_organization_id_foreign foreign key (organization_id) references organizations (id) on delete cascade
);
create unique index one_organization_per_domain on organization_domains (domain) where verified_at is not null;

-- From the name of a group of the identity provider to a role and a group of robots.
create table role_mappings (
  id uuid primary key,
  organization_id uuid not null,
  name text not null,
  role text,
  group_id uuid,
  created_at timestamptz(3) not null default now(),
  constraint role_mappings_role_check check (role in ('owner', 'admin', 'supervisor', 'operator', 'viewer', 'billing')),
  constraint role_mappings_not_empty check (role is not null or group_id is not null),
  constraint role_mappings_organization_id_foreign foreign key (organization_id) references organizations (id) on delete cascade,
  constraint role_mappings_group_foreign foreign key (organization_id, group_id) references organization_groups (organization_id, id) on delete cascade
);
create unique index one_mapping_per_name on role_mappings (organization_id, lower(name collate "C"));

create table scim_tokens (
  id uuid primary key,
  organization_id uuid not null,
  name text not null,
  -- SHA-256 of the token, which has 256 random bits.
  hash text not null,
  created_by_id uuid,
  created_at timestamptz(3) not null default now(),
  last_used_at timestamptz(3),
  revoked_at timestamptz(3),
  constraint scim_tokens_hash unique (hash),
  constraint scim_tokens_organization_id_foreign foreign key (organization_id) references organizations (id) on delete cascade,
  constraint scim_tokens_created_by_id_foreign foreign key (created_by_id) references users (id) on delete set null
);
create index scim_tokens_of on scim_tokens (organization_id, created_at desc, id desc);

-- A person as the identity provider of an organization describes it, known before the first sign-in.
create table scim_users (
  id uuid primary key,
  organization_id uuid not null,
  external_id text,
  user_name text not null,
  active boolean not null default true,
  -- The other attributes of the resource.
  attributes jsonb not null default '{}',
  -- Null until the person signs in.
  user_id uuid,
  -- The role that provisioning has given; null while it has given none, so that a member from before keeps its own.
  role text,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  constraint scim_users_role_check check (role in ('owner', 'admin', 'supervisor', 'operator', 'viewer', 'billing')),
  constraint scim_users_organization_id_foreign foreign key (organization_id) references organizations (id) on delete cascade,
  constraint scim_users_user_id_foreign foreign key (user_id) references users (id) on delete set null
);
create unique index one_scim_user_per_name on scim_users (organization_id, lower(user_name collate "C"));
create unique index one_scim_user_per_user on scim_users (organization_id, user_id) where user_id is not null;
create index scim_users_unlinked on scim_users (lower(user_name collate "C")) where user_id is null;
create index scim_users_by_external_id on scim_users (organization_id, external_id) where external_id is not null;
create index scim_users_oldest on scim_users (organization_id, created_at, id);

create table scim_groups (
  id uuid primary key,
  organization_id uuid not null,
  external_id text,
  display_name text not null,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  constraint scim_groups_organization_id_foreign foreign key (organization_id) references organizations (id) on delete cascade
);
create unique index one_scim_group_per_name on scim_groups (organization_id, lower(display_name collate "C"));
create index scim_groups_oldest on scim_groups (organization_id, created_at, id);

create table scim_group_members (
  group_id uuid not null,
  user_id uuid not null,
  primary key (group_id, user_id),
  constraint scim_group_members_group_id_foreign foreign key (group_id) references scim_groups (id) on update cascade on delete cascade,
  constraint scim_group_members_user_id_foreign foreign key (user_id) references scim_users (id) on update cascade on delete cascade
);
create index scim_group_members_of_user on scim_group_members (user_id);
