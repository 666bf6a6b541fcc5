import { Badge, Group, Text } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { answerOf } from '@wheelhouse/sdk'
import { usePlatform } from '../platform/platform.ts'
import { keys } from '../platform/queries.ts'
import { roleTexts } from '../texts/code-texts.ts'
import { textParts } from '../texts/text-parts.tsx'
import { t } from '../texts/texts.ts'
import { ConfirmButton } from '../ui/confirm-button.tsx'
import { Section } from '../ui/section.tsx'
import type { User } from './user-query.ts'

/** The roles that admins remove and restore. The configuration names the admins. */
const changeable = ['operator', 'client'] as const
type Changeable = (typeof changeable)[number]

const removeQuestions: Record<Changeable, (name: string) => string> = {
  operator: (name) => t('admin.roles.removeOperator', { name }),
  client: (name) => t('admin.roles.removeOwner', { name }),
}
const restoreQuestions: Record<Changeable, (name: string) => string> = {
  operator: (name) => t('admin.roles.restoreOperator', { name }),
  client: (name) => t('admin.roles.restoreOwner', { name }),
}

/** Shows the roles of a user, and removes and restores them. */
export function UserRoles({ user }: { user: User }) {
  const { roles, removed_roles } = user
  const known = changeable.filter((role) => roles.includes(role) || removed_roles.includes(role))
  return (
    <Section title={t('admin.roles.title')}>
      {roles.includes('admin') && (
        <Text>
          {textParts('admin.roles.configured', {
            role: <Badge color="blue.9">{roleTexts.admin}</Badge>,
          })}
        </Text>
      )}
      {known.map((role) => (
        <Group key={role} gap="xs">
          <Badge color={roles.includes(role) ? 'teal.9' : 'gray.7'}>{roleTexts[role]}</Badge>
          {roles.includes(role) ? (
            <RemoveRole user={user} role={role} />
          ) : (
            <>
              <Text size="sm">{t('admin.roles.removed')}</Text>
              <RestoreRole user={user} role={role} />
            </>
          )}
        </Group>
      ))}
      {roles.length === 0 && known.length === 0 && <Text c="dimmed">{t('admin.roles.none')}</Text>}
    </Section>
  )
}

interface RoleProps {
  readonly user: User
  readonly role: Changeable
}

function RemoveRole({ user: { id, display_name: name }, role }: RoleProps) {
  const { rest } = usePlatform()
  const queries = useQueryClient()
  const remove = async () => {
    const params = { path: { id, role } }
    await answerOf(rest.DELETE('/api/admin/users/{id}/roles/{role}', { params }))
    await queries.invalidateQueries({ queryKey: keys.users })
  }
  return (
    <ConfirmButton
      size="compact-sm"
      variant="default"
      question={removeQuestions[role](name)}
      consequence={t('admin.roles.removeConsequence', { name })}
      confirmLabel={t('admin.roles.remove')}
      onConfirm={remove}
      aria-label={t('admin.roles.removeLabel', { role: roleTexts[role] })}
    >
      {t('admin.roles.remove')}
    </ConfirmButton>
  )
}

function RestoreRole({ user: { id, display_name: name }, role }: RoleProps) {
  const { rest } = usePlatform()
  const queries = useQueryClient()
  const restore = async () => {
    const params = { path: { id, role } }
    await answerOf(rest.POST('/api/admin/users/{id}/roles/{role}', { params }))
    await queries.invalidateQueries({ queryKey: keys.users })
  }
  return (
    <ConfirmButton
      size="compact-sm"
      variant="default"
      question={restoreQuestions[role](name)}
      consequence={t('admin.roles.restoreConsequence', { name })}
      confirmLabel={t('admin.roles.restore')}
      confirmColor="teal.9"
      onConfirm={restore}
      aria-label={t('admin.roles.restoreLabel', { role: roleTexts[role] })}
    >
      {t('admin.roles.restore')}
    </ConfirmButton>
  )
}
