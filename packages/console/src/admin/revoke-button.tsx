import { useQueryClient } from '@tanstack/react-query'
import { answerOf } from '@wheelhouse/sdk'
import { ReasonButton } from '../base/confirm-button.tsx'
import { usePlatform } from '../platform/platform.ts'
import { keys } from '../platform/queries.ts'
import { t } from '../texts/texts.ts'
import type { CertificationRequest } from './queries.ts'

/** Revokes an approved certification with a reason. */
export function RevokeButton({
  certification: { id, operator_name: name, robot_type: type },
}: {
  certification: Pick<CertificationRequest, 'id' | 'operator_name' | 'robot_type'>
}) {
  const { rest } = usePlatform()
  const queries = useQueryClient()
  const revoke = async (reason: string) => {
    const params = { path: { id } }
    await answerOf(rest.POST('/api/admin/certifications/{id}/revoke', { params, body: { reason } }))
    await Promise.all(
      [keys.certifications, keys.users].map((queryKey) => queries.invalidateQueries({ queryKey })),
    )
  }
  return (
    <ReasonButton
      size="xs"
      variant="default"
      question={t('admin.revoke.question', { name, type })}
      consequence={t('admin.revoke.consequence', { name })}
      confirmLabel={t('admin.revoke.button')}
      onConfirm={revoke}
      aria-label={t('admin.revoke.label', { name, type })}
    >
      {t('admin.revoke.button')}
    </ReasonButton>
  )
}
