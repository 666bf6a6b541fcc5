import { useQueryClient } from '@tanstack/react-query'
import { answerOf } from '@wheelhouse/sdk'
import { useMe, usePlatform } from '../platform/platform.ts'
import { keys } from '../platform/queries.ts'
import { t } from '../texts/texts.ts'
import { ConfirmButton, ReasonButton } from '../ui/confirm-button.tsx'
import type { User } from './user-query.ts'

/** Suspends a user with a reason. Admins cannot suspend themselves. */
export function SuspendButton({ user: { id, display_name: name } }: { user: User }) {
  const { rest } = usePlatform()
  const queries = useQueryClient()
  const me = useMe()
  if (me.id === id) return null
  const suspend = async (reason: string) => {
    const params = { path: { id } }
    await answerOf(rest.POST('/api/admin/users/{id}/suspend', { params, body: { reason } }))
    await queries.invalidateQueries({ queryKey: keys.users })
  }
  return (
    <ReasonButton
      color="red.9"
      question={t('admin.suspension.suspendQuestion', { name })}
      consequence={t('admin.suspension.suspendConsequence', { name })}
      confirmLabel={t('admin.suspension.suspend')}
      onConfirm={suspend}
    >
      {t('admin.suspension.suspend')}
    </ReasonButton>
  )
}

/** Ends the suspension of a user. */
export function RestoreButton({ user: { id, display_name: name } }: { user: User }) {
  const { rest } = usePlatform()
  const queries = useQueryClient()
  const restore = async () => {
    await answerOf(rest.POST('/api/admin/users/{id}/restore', { params: { path: { id } } }))
    await queries.invalidateQueries({ queryKey: keys.users })
  }
  return (
    <ConfirmButton
      color="teal.9"
      question={t('admin.suspension.restoreQuestion', { name })}
      consequence={t('admin.suspension.restoreConsequence', { name })}
      confirmLabel={t('admin.suspension.restore')}
      confirmColor="teal.9"
      onConfirm={restore}
    >
      {t('admin.suspension.restore')}
    </ConfirmButton>
  )
}
