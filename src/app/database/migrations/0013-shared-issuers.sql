-- Providers such as Google have one issuer for all their customers: the first organization must not keep it from the others. Identities
-- belong to an organization, and addresses to its verified domains.
alter table organization_sign_ins drop constraint one_organization_per_issuer;
