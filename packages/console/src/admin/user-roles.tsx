import { Badge, Group, Text } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { roleTexts } from '@wheelhouse/protocol'
import { answerOf } from '@wheelhouse/sdk'
import { keys } from '../api/keys.ts'
import { usePlatform } from '../app/platform.ts'
import { ConfirmButton } from '../ui/confirm-button.tsx'
import { Section } from '../ui/section.tsx'
import type { User } from './user-query.ts'

/** The roles that admins remove and restore. The configuration names the admins. */
const changeable = ['operator', 'client'] as const
type Changeable = (typeof changeable)[number]

/** Shows the roles of a user, and removes and restores them. */
export function UserRoles({ user }: { user: User }) {
  const { roles, removed_roles } = user
  const known = changeable.filter((role) => roles.includes(role) || removed_roles.includes(role))
  return (
    <Section title="Roles">
      {roles.includes('admin') && (
        <Text>
          <Badge color="blue.9">{roleTexts.admin}</Badge> Named by the configuration.
        </Text>
      )}
      {known.map((role) => (
        <Group key={role} gap="xs">
          <Badge color={roles.includes(role) ? 'teal.9' : 'gray.7'}>{roleTexts[role]}</Badge>
          {roles.includes(role) ? (
            <RemoveRole user={user} role={role} />
          ) : (
            <>
              <Text size="sm">Removed by an administrator</Text>
              <RestoreRole user={user} role={role} />
            </>
          )}
        </Group>
      ))}
      {roles.length === 0 && known.length === 0 && <Text c="dimmed">No roles</Text>}
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
  const title = roleTexts[role].toLowerCase()
  return (
    <ConfirmButton
      size="compact-sm"
      variant="default"
      question={`Remove the role of ${title} from ${name}?`}
      consequence={`${name} is notified and cannot add the role again. Open sessions continue, new ones cannot start.`}
      confirmLabel="Remove role"
      onConfirm={remove}
      aria-label={`Remove role: ${roleTexts[role]}`}
    >
      Remove role
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
      question={`Restore the role of ${roleTexts[role].toLowerCase()} to ${name}?`}
      consequence={`${name} has the role again at once.`}
      confirmLabel="Restore role"
      confirmColor="teal.9"
      onConfirm={restore}
      aria-label={`Restore role: ${roleTexts[role]}`}
    >
      Restore role
    </ConfirmButton>
  )
}
