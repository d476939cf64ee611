"""Many campaigns in one process: `Campaigns`, `Desk`, `Lane`, `Jobs`, `Guard`."""
