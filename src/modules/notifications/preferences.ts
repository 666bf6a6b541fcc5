import { sql } from 'kysely'

/** SQL conditions on `users`: whether a user wants mail and whether a user wants push. Both default to true. */
export const wantsMail = sql<boolean>`coalesce((users.notification_preferences ->> 'email')::boolean, true)`
export const wantsPush = sql<boolean>`coalesce((users.notification_preferences ->> 'push')::boolean, true)`

/** SQL condition on `users`: whether a user has a verified address. */
export const hasAddress = sql<boolean>`(users.email is not null and users.email_verified)`
