import { t } from '../texts/texts.ts'
import type { OneTimeSecret } from '../ui/secret.tsx'

/** Returns the secret of a webhook with an explanation. */
export const toOneTimeSecret = (title: string, { secret }: { secret: string }): OneTimeSecret => ({
  title,
  note: t('webhooks.secret.onceNote'),
  label: t('webhooks.secret.label'),
  value: secret,
})
