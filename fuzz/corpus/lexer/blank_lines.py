

  
	

x


