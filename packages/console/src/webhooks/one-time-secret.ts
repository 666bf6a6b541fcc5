import type { OneTimeSecret } from '../ui/secret-dialog.tsx'

/** The secret of a webhook, and what it is for. */
export const toOneTimeSecret = (title: string, { secret }: { secret: string }): OneTimeSecret => ({
  title,
  note: 'Copy it now: it cannot be shown again. Your server checks with it that what it is sent comes from here, as Standard Webhooks describes.',
  label: 'Secret',
  value: secret,
})
