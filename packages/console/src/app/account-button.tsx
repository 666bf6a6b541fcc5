import { VisuallyHidden } from '@mantine/core'
import { type ComponentProps, lazy, Suspense, useState } from 'react'
import { shortList } from '../base/format.ts'
import { useMe } from '../platform/platform.ts'
import { roleTexts } from '../texts/code-texts.ts'
import { t } from '../texts/texts.ts'
import styles from './shell.module.css'

const importMenu = () => import('./user-menu.tsx')
const UserMenu = lazy(importMenu)

/** Shows who is signed in, and loads the account menu when it is first opened. */
export function AccountButton() {
  const [isMenu, setMenu] = useState(false)
  if (!isMenu) return <Face onClick={() => setMenu(true)} onPointerEnter={() => void importMenu()} />
  return (
    <Suspense fallback={<Face />}>
      <UserMenu>
        <Face />
      </UserMenu>
    </Suspense>
  )
}

function Face(button: ComponentProps<'button'>) {
  const me = useMe()
  return (
    <button type="button" {...button} className={`${styles.entry} ${styles.account}`}>
      <VisuallyHidden>{t('app.userMenu.label', { name: me.display_name })}</VisuallyHidden>
      <span className={styles.avatar} aria-hidden="true">
        {me.avatar_url === null ? initials(me.display_name) : <img src={me.avatar_url} alt="" />}
      </span>
      <span className={styles.person} aria-hidden="true">
        {me.display_name}
        <small>{shortList.format(me.roles.map((role) => roleTexts[role]))}</small>
      </span>
    </button>
  )
}

/** Returns the first letters of the first and the last word. */
function initials(name: string): string {
  const words = name.split(/\s+/).filter((word) => word !== '')
  const [first = '', last = ''] = [words[0], words.length > 1 ? words.at(-1) : '']
  return `${[...first][0] ?? ''}${[...last][0] ?? ''}`.toUpperCase()
}
