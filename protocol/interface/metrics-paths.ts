/** Paths of the metrics servers: a car loads this part of the access table without the rest. */
export const metricsPaths = {
  'car metrics': ['/status', '/metrics'],
  'hub metrics': ['/health', '/metrics'],
  'hub socket': ['/health', '/metrics', '/status'],
} as const;
