import { Title } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { t } from '../texts/texts.ts'
import { Section } from './section.tsx'
import styles from './sections.module.css'

interface Item {
  /** The anchor of the section in the address. */
  readonly id: string
  readonly title: string
  readonly content: ReactNode
}

/**
 * Renders the sections of a long page and links to them.
 * @param props.isPart whether they are parts of one frame, such as a form
 */
export const Sections = ({ items, isPart = false }: { items: readonly Item[]; isPart?: boolean }) => (
  <div className={styles.layout}>
    <nav className={styles.nav} aria-label={t('ui.sections')}>
      {items.map(({ id, title }) => (
        <Link
          key={id}
          to="."
          hash={id}
          search
          replace
          activeOptions={{ includeHash: true, explicitUndefined: false }}
        >
          {title}
        </Link>
      ))}
    </nav>
    <div className={styles.sections}>
      {items.map(({ id, title, content }) =>
        isPart ? (
          <section key={id} id={id} className={styles.part} aria-label={title}>
            <Title order={3}>{title}</Title>
            {content}
          </section>
        ) : (
          <Section key={id} id={id} title={title}>
            {content}
          </Section>
        ),
      )}
    </div>
  </div>
)
