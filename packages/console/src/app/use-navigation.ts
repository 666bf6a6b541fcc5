import { useMe } from '../auth/me.ts'
import { groupOf, groups, type NavigationEntry } from './navigation.ts'
import { usePlatform } from './platform.ts'

/** Returns the navigation of the signed-in user, grouped by role, without empty groups. */
export function useNavigation(): { title: string; entries: NavigationEntry[] }[] {
  const { navigation } = usePlatform()
  const { roles } = useMe()
  const allowed = navigation.filter(({ role }) => role === undefined || roles.includes(role))
  return groups
    .map(([group, title]) => ({ title, entries: allowed.filter((entry) => groupOf(entry) === group) }))
    .filter(({ entries }) => entries.length > 0)
}
