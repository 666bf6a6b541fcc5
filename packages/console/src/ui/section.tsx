import { Card, Stack, Title } from '@mantine/core'
import type { ReactNode } from 'react'

/** Renders a framed part of a page with a title. */
export const Section = (props: { title: string; gap?: 'xs' | 'md'; children: ReactNode }) => (
  <Card withBorder component="section" aria-label={props.title} miw={0}>
    <Stack gap={props.gap ?? 'md'}>
      <Title order={2}>{props.title}</Title>
      {props.children}
    </Stack>
  </Card>
)
