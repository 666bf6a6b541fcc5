import { sql } from 'kysely'

/** For queries of `users`: whether they want mail, and whether they want to be told live. Both until they say no. */
export const wantsMail = sql<boolean>`coalesce((users.notification_preferences ->> 'email')::boolean, true)`
export const wantsPush = sql<boolean>`coalesce((users.notification_preferences ->> 'push')::boolean, true)`

/** Whether there is an address to write to that is known to be theirs. */
export const hasAddress = sql<boolean>`(users.email is not null and users.email_verified)`
