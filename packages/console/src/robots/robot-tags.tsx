import { Badge, Group } from '@mantine/core'
import { t } from '../texts/texts.ts'
import { LinkAnchor } from '../ui/links.tsx'

/** Renders the tags of a robot in a list. A tag links to the robots that have it. */
export const RobotTags = ({ tags, to }: { tags: readonly string[]; to: '/robots' | '/admin/robots' }) => (
  <Group gap={4} wrap="nowrap">
    {[...new Set(tags)].map((tag) => (
      <LinkAnchor key={tag} to={to} search={{ tag }} aria-label={t('robots.list.withTag', { tag })}>
        <Badge variant="default" tt="none" style={{ flexShrink: 0, cursor: 'inherit' }}>
          {tag}
        </Badge>
      </LinkAnchor>
    ))}
  </Group>
)
