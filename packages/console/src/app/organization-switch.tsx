import { NativeSelect } from '@mantine/core'
import { actFor, useOrganizations } from '../platform/organization.ts'
import { t } from '../texts/texts.ts'
import styles from './shell.module.css'

/** Shows the organization that the console acts for, and changes it. Most people have one, and see nothing. */
export function OrganizationSwitch() {
  const { acting, all } = useOrganizations()
  if (all.length < 2) return null
  const nameOf = ({ kind, name }: (typeof all)[number]) =>
    kind === 'personal' ? t('app.organization.personal', { name }) : name
  return (
    <NativeSelect
      className={styles.organization ?? ''}
      aria-label={t('app.organization.label')}
      data={all.map((organization) => ({ value: organization.id, label: nameOf(organization) }))}
      value={acting.id}
      title={nameOf(acting)}
      onChange={({ currentTarget: { value } }) =>
        actFor(all.find(({ id }) => id === value)?.kind === 'team' ? value : undefined)
      }
    />
  )
}
