import { idOf } from '@wheelhouse/protocol'
import { z } from 'zod'
import { line, timestamp } from '../../../core/http/fields.ts'

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
  })
  .meta({ id: 'ApiKey', description: 'An API key in a list, without the key itself.' })
export type ApiKeyView = z.infer<typeof ApiKeyView>

/** Response to a creation. Only this response contains the key. */
export const CreatedApiKey = ApiKeyView.extend({
  key: z.string().meta({ examples: ['svc_live_4f9d…x7Qa'] }),
}).meta({ id: 'CreatedApiKey', description: 'A new API key, including the key itself.' })
