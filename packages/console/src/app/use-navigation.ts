import { useMe } from '../auth/me.ts'
import { groupOf, groups, type NavigationEntry } from './navigation.ts'
import { usePlatform } from './platform.ts'

/** Returns the navigation of the signed-in user, grouped by role, without empty groups. */
export function useNavigation(): { title: string; entries: NavigationEntry[] }[] {
  const { navigation } = usePlatform()
  const { roles } = useMe()
  const participates = roles.some((role) => role !== 'admin')
  const allowed = navigation.filter(
    ({ role, participantsOnly }) =>
      (role === undefined || roles.includes(role)) && (participates || participantsOnly !== true),
  )
  return groups
    .map(([group, title]) => ({ title, entries: allowed.filter((entry) => groupOf(entry) === group) }))
    .filter(({ entries }) => entries.length > 0)
}
