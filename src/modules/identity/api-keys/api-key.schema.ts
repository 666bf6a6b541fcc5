import { ApiKeyScope, idOf } from '@wheelhouse/protocol'
import { z } from 'zod'
import { line, timestamp } from '../../../core/http/fields.ts'

/** What a key may be used for: at least one scope, each once, in the order of the table. */
export const Scopes = z
  .array(ApiKeyScope)
  .min(1)
  .max(ApiKeyScope.options.length)
  .transform((chosen) => ApiKeyScope.options.filter((scope) => chosen.includes(scope)))
  .meta({ examples: [['read', 'sessions']] })

/** Body of POST /api/auth/api-keys. */
export const CreateApiKey = z.strictObject({
  name: line(100).meta({ examples: ['ci'] }),
  expires_at: z.iso
    .datetime({ offset: true })
    .meta({ examples: ['2099-01-01T00:00:00Z'] })
    .transform((text) => new Date(text))
    .refine((at) => at.getTime() > Date.now(), 'must lie in the future')
    .refine((at) => at.getUTCFullYear() <= 9999, 'lies too far in the future')
    .nullish(),
  scopes: Scopes.optional(),
})
export type CreateApiKey = z.infer<typeof CreateApiKey>

/** A key in a list. The key itself is not stored, so it cannot be shown again. */
export const ApiKeyView = z
  .object({
    id: idOf('apiKey'),
    name: z.string().meta({ examples: ['ci'] }),
    prefix: z.string().meta({ examples: ['svc_live_4f9d'] }),
    last4: z.string().meta({ examples: ['x7Qa'] }),
    created_at: timestamp.meta({ examples: ['2026-10-05T08:20:00.000Z'] }),
    last_used_at: timestamp.nullable(),
    expires_at: timestamp
      .nullable()
      .meta({ description: 'Null if the key does not expire.', examples: ['2099-01-01T00:00:00.000Z'] }),
    revoked_at: timestamp.nullable().meta({ examples: [null] }),
    scopes: z
      .array(ApiKeyScope)
      .optional()
      .meta({ description: 'What the key may be used for. A key without the field has all scopes.' }),
    last_used_address: z
      .string()
      .optional()
      .meta({
        description:
          'The network that the last use came from: an IPv4 address, or the /64 of an IPv6 address.',
        examples: ['203.0.113.7'],
      }),
    replaces_id: idOf('apiKey')
      .optional()
      .meta({ description: 'The key that this one replaces. It ends at its own `expires_at`.' }),
    unused_days: z
      .int()
      .optional()
      .meta({
        description: 'Days since the last use, or since the creation of a key that was never used.',
        examples: [112],
      }),
  })
  .meta({ id: 'ApiKey', description: 'An API key in a list, without the key itself.' })
export type ApiKeyView = z.infer<typeof ApiKeyView>

/** Response to a creation. Only this response contains the key. */
export const CreatedApiKey = ApiKeyView.extend({
  key: z.string().meta({ examples: ['svc_live_4f9d…x7Qa'] }),
}).meta({ id: 'CreatedApiKey', description: 'A new API key, including the key itself.' })
