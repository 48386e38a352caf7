"""The guided start: questions to the requester, a forecast, a draft."""
