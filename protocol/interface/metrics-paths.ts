/** Paths of the servers of metrics, a part of the table of access that a car loads without the rest. */
export const metricsPaths = {
  'car metrics': ['/status', '/metrics'],
  'hub metrics': ['/health', '/metrics'],
} as const;
